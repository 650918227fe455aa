/** How long the event loop computes without letting anybody else in: in processor time, which a busy machine does not change. */
const LOOK_EVERY_MS = 5

export async function longestStretchMs<T>(work: () => Promise<T>): Promise<{ result: T; stretchMs: number }> {
  let longest = 0
  let last = process.threadCpuUsage()
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1_000)
    last = process.threadCpuUsage()
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  try {
    const result = await work()
    look()
    return { result, stretchMs: longest }
  } finally {
    clearInterval(looking)
  }
}
