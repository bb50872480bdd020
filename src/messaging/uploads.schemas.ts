import * as z from 'zod/mini';
import type { FileInput } from '../core/values.js';
import type { SchemasFor } from '../core/route.js';
import { open } from './shared/values.schemas.js';
import type { routes } from './uploads.js';

export const schemas = {
  image: { body: z.custom<FileInput>(), returns: open },
} satisfies SchemasFor<typeof routes>;
