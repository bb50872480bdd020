import * as z from 'zod/mini';
import { isRecord } from '../../contract/is-record.js';
import type { Filter } from './filter.js';

/** Picks contacts. Nothing more is checked: the document shows a single element only. */
export const filter = z.custom<Filter>(isRecord, 'must be an object');
