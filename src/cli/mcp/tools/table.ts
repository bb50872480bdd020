import { campaignPlans } from './campaign-plans.js';
import { contactPlans } from './contact-plans.js';
import { mailPlans } from './mail-plans.js';
import { mediaPlans } from './media-plans.js';
import { mediaReads } from './media-reads.js';
import { messagingReads } from './messaging-reads.js';
import type { Tool } from './tool.js';

/** Every tool but `carry_out`, which is about the plans themselves. */
export const tools: readonly Tool[] = [
  ...messagingReads,
  ...mediaReads,
  ...mailPlans,
  ...contactPlans,
  ...campaignPlans,
  ...mediaPlans,
];
