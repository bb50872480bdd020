/** A step that is not made, with the reason for the agent. */
export class Refusal extends Error {}
