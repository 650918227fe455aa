/** Does the work for each element, a few at a time, in bounded memory. The first failure ends it. */
export async function each<T>(items: AsyncIterable<T>, atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  let turn: Promise<unknown> = Promise.resolve()
  let failed = false
  const next = (): Promise<IteratorResult<T>> => {
    const mine = turn.then(() => iterator.next())
    turn = mine.catch(() => {})
    return mine
  }
  const worker = async (): Promise<void> => {
    try {
      while (!failed) {
        const { done, value } = await next()
        if (done) return
        await work(value)
      }
    } catch (error) {
      failed = true
      throw error
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  await iterator.return?.()
  if (failure) throw failure.reason
}
