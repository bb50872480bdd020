import * as z from 'zod/mini';
import type { FileInput } from '../../contract/records.js';
import type { SchemasFor } from '../../contract/schemas.js';
import { open } from '../shapes-schema.js';
import type { routes } from './routes.js';

export const schemas: SchemasFor<typeof routes> = {
  image: { body: z.custom<FileInput>(), returns: open },
};
