import * as z from 'zod/mini';
import type { SchemasFor } from '../core/call/route.js';
import { open } from './shared/values.schemas.js';
import type { ImageInput, routes } from './uploads.js';

export const schemas = {
  image: { body: z.custom<ImageInput>(), returns: open },
} satisfies SchemasFor<typeof routes>;
