/** The bytes that a `Range` header asks for; null without one. */
export function rangeOf(header: string | undefined, size: number): { first: number; last: number } | 'unsatisfiable' | null {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? []
  if (from === undefined) return null
  const first = Number(from)
  if (first >= size) return 'unsatisfiable'
  return { first, last: to ? Math.min(Number(to), size - 1) : size - 1 }
}
