import * as postreel from 'postreel';
import { probe, type Probe } from './probe.js';

export default {
  async fetch(request: Request): Promise<Response> {
    const probes = (await request.json()) as Probe[]; // as: only the test sends requests
    return Response.json(await probe(postreel, probes));
  },
};
