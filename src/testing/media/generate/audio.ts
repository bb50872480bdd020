import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { accept, checkPending } from '../jobs/lifecycle.js';
import {
  listOf,
  numberFrom,
  oneOf,
  readFields,
  text,
  textOrNull,
  textUpTo,
  webAddress,
  type Rules,
} from './rules.js';
import type { MediaWorld } from '../world.js';

/** media, POST /v1/generate/audio, row by row. */
const audioRules: Rules = {
  content: { check: textUpTo(10_000), isRequired: true },
  voiceId: { check: text, isRequired: true },
  voiceStyleId: { check: textOrNull },
  playbackRate: { check: numberFrom(0.5, 2), default: 1 },
  format: { check: oneOf('mp3', 'wav'), default: 'mp3' },
  pronunciations: { check: listOf(pronunciation) },
  webhook: { check: webAddress },
};

/** POST /v1/generate/audio: the answer only confirms acceptance. */
export function generateAudio(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const settings = readFields(audioRules, request.body);
  checkPending(world, 1);
  const { fileId } = accept(world, {
    kind: 'audio',
    name: 'Untitled file',
    folderId: undefined,
    settings,
    brand: undefined,
  });
  return { body: { fileId } };
}

function pronunciation(value: unknown): string | undefined {
  const isPair =
    typeof value === 'object' &&
    value !== null &&
    'original' in value &&
    'replace' in value &&
    typeof value.original === 'string' &&
    typeof value.replace === 'string';
  return isPair ? undefined : 'must be { original, replace } with two texts';
}
