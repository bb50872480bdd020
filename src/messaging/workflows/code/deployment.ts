// What deploying needs, in one part that is loaded with the first deployment.
export { callsOf, graphWithTextIds } from './calls.js';
export { deploy } from './deploy.js';
export { definitionOf } from './pull.js';
