/** Where the focus goes in a menu when a key is pressed. */

/** The index of the next item, or null if the key does not move the focus. -1 stands for no current item. */
export function nextItem(items: readonly string[], current: number, key: string): number | null {
  const { length } = items
  if (length === 0) return null
  if (key === 'ArrowDown') return (current + 1) % length
  if (key === 'ArrowUp') return current <= 0 ? length - 1 : current - 1
  if (key === 'Home') return 0
  if (key === 'End') return length - 1
  if (key.length !== 1 || key === ' ') return null
  const begins = (index: number) => items[index]!.trim().toLowerCase().startsWith(key.toLowerCase())
  const after = items.map((_, step) => (current + 1 + step) % length)
  return after.find(begins) ?? null
}
