import type { JsonSchema } from './json-schema.js';

const text = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description });
/** An email address, with or without a name. */
const address: JsonSchema = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      properties: {
        email: { type: 'string', description: 'The address.' },
        name: { type: 'string', description: 'The name in front of it.' },
      },
      required: ['email'],
    },
  ],
};
/** The sender of one email; the sender of a campaign or a template is a string. */
export const sender: JsonSchema = {
  ...address,
  description: 'The address of the sender, whose domain is verified.',
};
const fields: JsonSchema = {
  type: 'object',
  description: 'Values by their names: texts, numbers, true or false; null deletes one.',
};

/**
 * The parameters of tools by name: a description, or a schema where the schema of the endpoint cannot express
 * the type.
 */
export const parameters: Readonly<Record<string, JsonSchema | string>> = {
  // Lists
  limit: 'How many to list, 1 to 100; 20 unless given.',
  cursor: 'The `cursor` of the previous page.',
  search: 'A part of the email or the name.',
  type: 'Marketing emails go to subscribed contacts only.',
  status: 'Only those in this status.',
  startDate: text('From this time on, in ISO 8601.'),
  endDate: text('Until this time, in ISO 8601.'),
  pageSize: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: 'How many to list, 1 to 100; 20 unless given.',
  },
  page: 'The number of the page, from 1.',
  sort: 'The order.',
  // Paths
  id: text('The id, as a list has it.'),
  jobId: text('The id of the job.'),
  stepId: text('The id of the step.'),
  executionId: text('The id of the execution.'),
  field: text('The name of the field.'),
  fileId: text('The id of the file.'),
  // Emails and contacts
  to: {
    anyOf: [...(address.anyOf ?? []), { type: 'array', minItems: 1, items: address }],
    description: 'One address or a list of them; each gets a separate email.',
  },
  from: text('The address of the sender, whose domain is verified.'),
  subject: 'The subject, in one line.',
  body: 'The text as HTML; {{name}} takes a variable.',
  template: text('The id of a template, in place of `subject` and `body`.'),
  name: 'The name.',
  reply: 'The reply-to address.',
  replyTo: 'The reply-to address.',
  fromName: 'The name of the sender.',
  headers: 'Additional headers of the email, by name; not To, Cc, From or the like.',
  data: fields,
  subscribed: 'Whether the contact gets marketing emails; left out, nothing changes.',
  email: 'The email address of the contact.',
  event: 'The name of the event, such as signed_up.',
  description: 'What it is for.',
  audienceType: 'Everybody, a segment, or who a filter selects.',
  segmentId: text('The segment, with audienceType SEGMENT.'),
  audienceFilter: {
    type: 'object',
    description: 'The filter, with audienceType FILTERED: as the condition of a segment.',
  },
  // Videos and speech
  payload: 'The videos.',
  workflowType: 'What the video is made of.',
  workflowFormat: 'Always "video".',
  content: 'The script, or the address of the article; of speech the text.',
  prompt: 'The topic, with workflowType "idea".',
  voiceId: 'The voice.',
  voiceStyleId: 'The style of the voice.',
  aspectRatio: 'The shape of the picture.',
  resolution: 'The size of the picture.',
  extension: 'The kind of file.',
  duration: 'The length in minutes.',
  visuals: 'Stock footage, AI images, or your own images.',
  mediaUrls: 'Public addresses of images.',
  artStyle: 'The style of AI images.',
  aiVideoModel: 'The model of AI clips, with visuals "ai".',
  aiVideoClipPercentage: 'The share of scenes with AI clips, in percent.',
  imageAnimationPreset: 'How AI images move.',
  bgMusicVolume: 'The volume of the music, in percent.',
  generateSfx: 'Sound effects for each scene.',
  addPauses: 'Pauses between sentences.',
  subtitlePresetId: 'The look of the subtitles.',
  highlightSubtitles: 'Highlights the word that is spoken.',
  templateId: 'A template of videos.',
  brandId: 'A brand kit, with logo, intro and outro.',
  sceneBreakdown: 'Where a new scene starts.',
  fileName: 'The name of the file at the service.',
  shouldExport: 'Exports the video once it is made.',
  file: 'A file that was uploaded to the service.',
  folderId: 'The folder at the service.',
  playbackRate: 'The speed of the voice.',
  format: 'The kind of file.',
  pronunciations: 'How words are spoken.',
  original: 'The word.',
  replace: 'How it is spoken.',
};
