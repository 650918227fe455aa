/**
 * One mosaic of 200 scenes on one worker, on four, and on four of which two are killed, the one that runs
 * the job first: CPU time of each worker, and equal files.
 *
 * The speed-up is the CPU time of the undivided job by that of the busiest of the four workers, so that it does not depend on how much
 * of the machine they get. Four busy processes slow each other down in caches and memory, though, as four machines would not. So the
 * undivided job is measured under the same conditions: four of it at once on four workers. The speed-up must be 3.2 or more.
 * `npm run bench -- parts --scenes 200 --side 1024 --dates 10 --workers 4 --kills 2`
 */
import { parseArgs } from 'node:util'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { openMosaicLab, type Outcome } from '../test/processing/many-workers.ts'

const { values } = parseArgs({
  options: {
    scenes: { type: 'string', default: '200' },
    side: { type: 'string', default: '1024' },
    dates: { type: 'string', default: '10' },
    workers: { type: 'string', default: '4' },
    kills: { type: 'string', default: '2' },
  },
})
const [scenes, side, dates] = [Number(values.scenes), Number(values.side), Number(values.dates)]
const [workers, kills] = [Number(values.workers), Number(values.kills)]
const LEAST_SHARE = 0.8
const PART_MEGAPIXELS = 1

const ends: (() => unknown)[] = []
const server = await startServerPostgres()
if (!server) throw new Error("This bench needs Debian's postgresql")
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
const seconds = (ms: number) => (ms / 1_000).toFixed(1)
const told = ({ cpuMs, parts, attempts }: Outcome) => `${cpuMs.map(seconds).join(', ')} s of CPU; ${parts} parts, ${attempts} attempts`
try {
  const { run } = await openMosaicLab(
    { after: (end) => void ends.push(end as () => unknown) },
    { databaseUrl: await server.createDatabase('parts'), scenes, side, dates },
  )
  const alone = await run({ workers: 1, partMegapixels: 0 })
  console.log(
    `${scenes} scenes of ${side} × ${side} pixels, four 16-bit bands, ${dates} of each place; one job on one worker: ${told(alone)}`,
  )
  const undivided = await run({ workers, partMegapixels: 0, jobs: workers })
  const whole = sum(undivided.cpuMs) / workers
  console.log(`${workers} such jobs on ${workers} workers: ${told(undivided)}; ${seconds(whole)} s a job`)
  const many = await run({ workers, partMegapixels: PART_MEGAPIXELS })
  const speedUp = whole / Math.max(...many.cpuMs)
  const price = `for ${(sum(many.cpuMs) / whole).toFixed(2)} times the CPU`
  console.log(`One job on ${workers} workers: ${told(many)}; ${speedUp.toFixed(2)} times as fast, ${price}`)
  const killed = await run({ workers, partMegapixels: PART_MEGAPIXELS, kills })
  console.log(`${workers} workers, ${kills} of them killed: ${told(killed)}`)
  const isContinued = kills === 0 || (killed.attempts === 2 && killed.runners[0] !== killed.runners[1])
  if (kills > 0)
    console.log(
      isContinued
        ? `Worker ${killed.runners[0]! + 1} ran the job and was killed; worker ${killed.runners[1]! + 1} completed it.`
        : 'The job was not continued.',
    )
  const isSame = [many, killed].every(({ files }) => JSON.stringify(files) === JSON.stringify(alone.files))
  console.log(isSame ? 'All files are the same, byte for byte.' : 'The files differ.')
  if (!isSame || !isContinued || speedUp < LEAST_SHARE * workers) process.exitCode = 1
} finally {
  for (const end of ends) await end()
  await server.stop()
}
