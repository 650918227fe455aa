/** What a test process does after its last test. */
export const atEnd = new Set<() => void>()
