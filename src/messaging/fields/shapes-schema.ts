import * as z from 'zod/mini';
import { largestPage } from '../../contract/limits.js';

/** A record whose fields the documents do not show: any object or list. */
export const open = z.custom<Record<string, unknown>>(
  (value: unknown) => typeof value === 'object' && value !== null,
  'must be an object',
);

// Stricter than "something@something" would refuse addresses that the service takes.
const emailForm = /^[^\s@<>]+@[^\s@<>]+$/;

/** An email address. */
export const email = z
  .string()
  .check(z.refine((text) => emailForm.test(text), 'must be an email address'));

/** The size of a page. */
export const limit = z.int().check(z.minimum(1), z.maximum(largestPage));
