/** What a service answers when it says no; its fields besides the sentence are not always there. */
export const errorSchemas = {
  Error: {
    type: 'object',
    description: 'The documents show more than one shape: read what is there.',
    properties: {
      success: { type: 'boolean', enum: [false] },
      error: {
        anyOf: [
          { type: 'string' },
          {
            type: 'object',
            properties: {
              code: { type: 'string' },
              message: { type: 'string' },
              statusCode: { type: 'integer' },
              requestId: { type: 'string' },
              suggestion: { type: 'string' },
              errors: { type: 'array', items: { type: 'object' } },
            },
          },
        ],
      },
      message: { type: 'string' },
      timestamp: { type: 'string' },
    },
  },
};

const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** The refusals that every endpoint shares. */
export const errorAnswers = {
  '4XX': { description: 'Refused: nothing happened, except after 408.', content },
  '5XX': { description: 'The service failed: the call may have taken effect.', content },
};
