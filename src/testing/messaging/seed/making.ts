/** Makes so many, each from its index. */
export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** One after the other, round and round: varied, and the same each time. */
export function pick<Item>(items: readonly Item[], index: number): Item {
  // The index is within the list, and no list here is empty.
  return items[index % items.length] as Item;
}
