import { describe, expect, it } from 'vitest';
import { compile } from '../support/types/compile.js';

const head = `
import { defineTemplate, defineWorkflow, filters, MediaClient, MessagingClient } from 'postreel';
interface Fields { plan: 'free' | 'pro'; seats: number; trialEnds: Date }
const { where } = filters<Fields>();
const messaging = new MessagingClient<Fields>();
const { generate } = new MediaClient();
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
    [
      'a video without a voice',
      "generate.video({ workflowType: 'idea', prompt: 'Cats' })",
      /^Property 'voiceId' is missing in type .* but required in type 'VideoSettings'\.$/,
    ],
    [
      'a word that a video cannot have',
      "generate.video({ workflowType: 'idea', prompt: 'Cats', voiceId: 'v', aspectRatio: '4:3' })",
      `Type '"4:3"' is not assignable to type '"16:9" | "9:16" | "1:1" | undefined'.`,
    ],
    [
      'a typing error in a field of a video',
      "generate.video({ workflowType: 'idea', prompt: 'Cats', voiceId: 'v', aspctRatio: '16:9' })",
      /^Object literal may only specify known properties, but 'aspctRatio' does not exist in type .*Did you mean to write 'aspectRatio'\?$/,
    ],
    [
      'a typing error in the kind of a video',
      "generate.video({ workflowType: 'ideo', prompt: 'Cats', voiceId: 'v' })",
      `Type '"ideo"' is not assignable to type '"url" | "script" | "idea" | undefined'.`,
    ],
    [
      'an idea without its topic',
      "generate.video({ workflowType: 'idea', content: 'Cats', voiceId: 'v' })",
      /'prompt' is missing in type/,
    ],
    [
      'one of several videos without a voice',
      "generate.video({ payload: [{ workflowType: 'idea', prompt: 'Cats' }] })",
      /^Property 'voiceId' is missing in type .* but required in type 'VideoSettings'\.$/,
    ],
    [
      'a word that one of several videos cannot have',
      "generate.video({ payload: [{ workflowType: 'idea', prompt: 'Cats', voiceId: 'v', aspectRatio: '4:3' }] })",
      `Type '"4:3"' is not assignable to type '"16:9" | "9:16" | "1:1" | undefined'.`,
    ],
    [
      'a typing error in one of several videos',
      "generate.video({ payload: [{ workflowType: 'idea', prompt: 'Cats', voiceId: 'v', aspctRatio: '16:9' }] })",
      /^Object literal may only specify known properties, but 'aspctRatio' does not exist in type /,
    ],
    [
      'a typing error beside several videos',
      "generate.video({ payload: [], foldrId: 'folder_1' })",
      /^Object literal may only specify known properties, but 'foldrId' does not exist in type .*Did you mean to write 'folderId'\?$/,
    ],
    [
      'a speech without a voice',
      "generate.audio({ content: 'Hi' })",
      "Property 'voiceId' is missing in type '{ content: string; }' but required in type 'AudioRequest'.",
    ],
    [
      'another name for a field of a speech',
      "generate.audio({ text: 'Hi', voiceId: 'v' })",
      "Object literal may only specify known properties, and 'text' does not exist in type 'AudioRequest'.",
    ],
  ])('%s', (_mistake, line, message) => {
    const { errors } = compile(head + line);
    expect(errors).toHaveLength(1);
    const last = errors[0]?.split('\n').at(-1)?.trim() ?? '';
    // The compiler lists the members of a union in the order in which it met them.
    expect(sorted(last)).toEqual(typeof message === 'string' ? sorted(message) : sorted(last));
    expect(last).toMatch(typeof message === 'string' ? /./ : message);
    expect(last.length).toBeLessThan(maxLength);
    // A list of overloads says first that none fits, which names nothing.
    expect(errors[0]).not.toMatch(/^No overload/);
  });

  it('compiles without them', () => {
    expect(compile(head).errors).toEqual([]);
  });
});

// The compiler writes out a union of six kinds of videos.
const maxLength = 700;
const sorted = (message: string) => message.split(/'| \| /).sort();
