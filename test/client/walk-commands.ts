/** Runs commands of the command line in one process: lines of JSON arguments in, `{ code, stdout, stderr }` out. */
import { createInterface } from 'node:readline'
import { main } from '../../packages/cli/src/main.ts'

const [out, err] = [process.stdout, process.stderr].map((stream) => stream.write.bind(stream)) as [
  typeof process.stdout.write,
  typeof process.stdout.write,
]

for await (const line of createInterface({ input: process.stdin })) {
  const caught: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((chunk: string | Uint8Array, encoding?: unknown, done?: (error?: Error) => void) => {
      caught[name].push(Buffer.from(chunk as Uint8Array))
      const last = typeof encoding === 'function' ? (encoding as () => void) : done
      if (last) process.nextTick(last)
      return true
    }) as typeof process.stdout.write
  const code = await main(JSON.parse(line) as string[])
  process.stdout.write = out
  process.stderr.write = err
  const text = (name: 'stdout' | 'stderr') => Buffer.concat(caught[name]).toString('base64')
  out(`${JSON.stringify({ code, stdout: text('stdout'), stderr: text('stderr') })}\n`)
}
