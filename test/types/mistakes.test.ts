import { describe, expect, it } from 'vitest';
import { compile } from '../support/types/compile.js';

const head = `
import { defineTemplate, defineWorkflow, filters, MessagingClient } from 'postreel';
interface Fields { plan: 'free' | 'pro'; seats: number; trialEnds: Date }
const { where } = filters<Fields>();
const messaging = new MessagingClient<Fields>();
const workflow = { name: 'n', trigger: { event: 'e' } };
`;

describe('a mistake is one compile error with a line that names it', () => {
  it.each([
    [
      'a typing error in a field of a filter',
      "where('data.paln')",
      `Argument of type '"data.paln"' is not assignable to parameter of type '"data.plan" | "data.seats" | "data.trialEnds" | "email" | "subscribed" | "createdAt" | "updatedAt"'.`,
    ],
    [
      'a value that a field cannot have',
      "where('data.plan').equals('prp')",
      `Argument of type '"prp"' is not assignable to parameter of type 'NonNullable<"free" | "pro">'.`,
    ],
    [
      'an operator for the wrong type',
      "where('data.plan').greaterThan(5)",
      `Property 'greaterThan' does not exist on type 'Comparisons<NonNullable<"free" | "pro">>'.`,
    ],
    [
      'a span of time on a number',
      "where('data.seats').within(3, 'days')",
      "Property 'within' does not exist on type 'Comparisons<number>'.",
    ],
    [
      'a typing error in a custom field',
      "messaging.contacts.create({ email: 'a@b.c', data: { paln: 'pro' } })",
      /^Object literal may only specify known properties, and 'paln' does not exist in type .*plan\?: /,
    ],
    [
      'a step that does not exist',
      "defineWorkflow({ ...workflow, steps: { wait: { type: 'DELAY', amount: 1, unit: 'days', next: 'edn' }, end: { type: 'EXIT' } } })",
      `Type '"edn"' is not assignable to type '"wait" | "end"'.`,
    ],
    [
      'a missing branch',
      "defineWorkflow({ ...workflow, steps: { isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'end' }, end: { type: 'EXIT' } } })",
      /^Property 'no' is missing in type .* but required in type 'ConditionStep<"isPro" \| "end">'\.$/,
    ],
    [
      'a missing variable',
      "defineTemplate('Hi {{name}}').render({})",
      "Property 'name' is missing in type '{}' but required in type 'Readable<{ name: TemplateValue; }>'.",
    ],
    [
      'a campaign without its date',
      "messaging.campaigns.schedule('cmp_1', undefined)",
      "Argument of type 'undefined' is not assignable to parameter of type 'Timestamp'.",
    ],
  ])('%s', (_mistake, line, message) => {
    const { errors } = compile(head + line);
    expect(errors).toHaveLength(1);
    const last = errors[0]?.split('\n').at(-1)?.trim() ?? '';
    // The compiler lists the members of a union in the order in which it met them.
    expect(sorted(last)).toEqual(typeof message === 'string' ? sorted(message) : sorted(last));
    expect(last).toMatch(typeof message === 'string' ? /./ : message);
    expect(last.length).toBeLessThan(320);
  });

  it('compiles without them', () => {
    expect(compile(head).errors).toEqual([]);
  });
});

const sorted = (message: string) => message.split(/'| \| /).sort();
