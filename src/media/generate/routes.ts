import { ofType, route } from '../../core/call/route.js';
import { hasJobIds } from '../jobs/job.js';
import type {
  AudioAccepted,
  AudioRequest,
  StatusQuery,
  StatusRecord,
  VideoAccepted,
  VideoRequest,
} from './types.js';

export const routes = {
  video: route('POST /v1/generate/video', {
    body: ofType<VideoRequest>(),
    returns: ofType<VideoAccepted>(),
    // The document does not say that a call is atomic: after an error response some of its jobs may have been
    // made. A 429 means that nothing was done.
    partial: (body: { payload?: unknown } | undefined, status) =>
      Array.isArray(body?.payload) && body.payload.length > 1 && status !== 429,
    isAccepted: hasJobIds, // jobs with an id are paid for, even in an error response
  }),
  audio: route('POST /v1/generate/audio', {
    body: ofType<AudioRequest>(),
    returns: ofType<AudioAccepted>(),
    isAccepted: hasJobIds,
  }),
  status: route('GET /v1/generate/status', {
    query: ofType<StatusQuery>(),
    returns: ofType<StatusRecord>(),
    charged: false, // the document limits to 10 in 10 minutes and advises a check every 10 s
  }),
};
