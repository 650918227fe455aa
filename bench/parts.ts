/**
 * One mosaic of 200 scenes on one worker, on four, and on four of which two are killed, the one that runs
 * the job first: CPU time of each worker, and equal files.
 *
 * The speed-up is the CPU time of a single worker by that of the busiest of the four, so that it does not depend on what else the
 * machine does. It must be 3.2 or more. `npm run bench -- parts --scenes 200 --side 512 --workers 4 --kills 2`
 */
import { parseArgs } from 'node:util'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { openMosaicLab, type Outcome } from '../test/processing/many-workers.ts'

const { values } = parseArgs({
  options: {
    scenes: { type: 'string', default: '200' },
    side: { type: 'string', default: '512' },
    workers: { type: 'string', default: '4' },
    kills: { type: 'string', default: '2' },
  },
})
const [scenes, side, workers, kills] = [values.scenes, values.side, values.workers, values.kills].map(Number) as [
  number,
  number,
  number,
  number,
]
const LEAST_SHARE = 0.8
const PART_MEGAPIXELS = 1

const ends: (() => unknown)[] = []
const server = await startServerPostgres()
if (!server) throw new Error("This bench needs Debian's postgresql")
const seconds = (ms: number) => (ms / 1_000).toFixed(1)
const told = ({ cpuMs, parts, attempts }: Outcome) => `${cpuMs.map(seconds).join(', ')} s of CPU; ${parts} parts, ${attempts} attempts`
try {
  const { run } = await openMosaicLab(
    { after: (end) => void ends.push(end as () => unknown) },
    { databaseUrl: await server.createDatabase('parts'), scenes, side },
  )
  const alone = await run({ workers: 1, partMegapixels: 0 })
  console.log(`${scenes} scenes of ${side} × ${side} pixels, four 16-bit bands; one worker: ${told(alone)}`)
  const many = await run({ workers, partMegapixels: PART_MEGAPIXELS })
  const speedUp = alone.cpuMs[0]! / Math.max(...many.cpuMs)
  const total = many.cpuMs.reduce((sum, ms) => sum + ms, 0)
  console.log(
    `${workers} workers: ${told(many)}; ${speedUp.toFixed(2)} times as fast, for ${(total / alone.cpuMs[0]!).toFixed(2)} times the CPU`,
  )
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
