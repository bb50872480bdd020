import type { ContactField, FieldDrift, FieldTypes } from './types.js';

/** Compares the custom fields that a program expects with those that the project has. */
export function checkFields(expected: FieldTypes, inventory: readonly ContactField[]): FieldDrift {
  const custom = inventory.filter(({ field, isCustom }) => isCustom || field.startsWith('data.'));
  const live = new Map(custom.map(({ field, type }) => [field.replace(/^data\./, ''), type]));
  const names = Object.keys(expected);
  const different = names.flatMap((field) => {
    const actual = live.get(field);
    const wanted = expected[field];
    return actual === undefined || wanted === undefined || actual === wanted
      ? []
      : [{ field, expected: wanted, actual }];
  });
  const missing = names.filter((field) => !live.has(field));
  const unexpected = [...live.keys()].filter((field) => !names.includes(field));
  const hasDrifted = missing.length > 0 || different.length > 0;
  return { hasDrifted, missing, different, unexpected };
}
