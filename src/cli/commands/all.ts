import type { AddCommand } from '../command.js';
import { agents } from '../../agents/command.js';
import { audio } from './audio.js';
import { completion } from './completion.js';
import { contacts } from './contacts.js';
import { doctor } from './doctor.js';
import { fake } from './fake.js';
import { jobs } from './jobs.js';
import { pull } from './pull.js';
import { send } from './send.js';
import { status } from './status.js';
import { track } from './track.js';
import { verify } from './verify.js';
import { video } from './video.js';
import { workflows } from './workflows.js';

/** Every command, in the order of `--help`. */
export const commands: readonly AddCommand[] = [
  send,
  track,
  verify,
  ...contacts,
  ...workflows,
  pull,
  video,
  audio,
  ...jobs,
  status,
  doctor,
  fake,
  agents,
  completion,
];
