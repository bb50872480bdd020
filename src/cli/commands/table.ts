import type { Command } from 'commander';
import type { Context } from '../context.js';
import { addAudio } from './media/audio.js';
import { addJobs } from './media/jobs.js';
import { addVideo } from './media/video.js';
import { addContacts } from './messaging/contacts.js';
import { addPull } from './messaging/pull.js';
import { addSend } from './messaging/send.js';
import { addTrack } from './messaging/track.js';
import { addVerify } from './messaging/verify.js';
import { addWorkflows } from './messaging/workflows.js';
import { addCompletion } from './tools/completion.js';
import { addDoctor } from './tools/doctor.js';
import { addMcp } from './tools/mcp.js';
import { addFake } from './tools/fake.js';
import { addProbe } from './tools/probe.js';
import { addStatus } from './tools/status.js';

/** Adds one command to the program. */
export type AddCommand = (program: Command, context: Context) => void;

/** Every command, in the order of `--help`. */
export const commands: readonly AddCommand[] = [
  addSend,
  addTrack,
  addVerify,
  addContacts,
  addWorkflows,
  addPull,
  addVideo,
  addAudio,
  addJobs,
  addStatus,
  addDoctor,
  addFake,
  addMcp,
  addProbe,
  addCompletion,
];
