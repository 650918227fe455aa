/** 500 idempotency keys × 20 identical requests at once against two processes: one effect each, identical bytes, 409 for another body. */
import { parseArgs } from 'node:util'
import { idempotencyRun } from '../test/faults/repeat.ts'
import { openLab } from '../test/support/service.ts'

const { values } = parseArgs({ options: { keys: { type: 'string', default: '500' }, repeats: { type: 'string', default: '20' } } })
const lab = openLab()
try {
  const result = await idempotencyRun(lab, { keys: Number(values.keys), repeats: Number(values.repeats), databaseUrl: null })
  console.log(
    `${result.keys} keys × ${values.repeats} requests over 2 processes: ${result.requests} requests in ${result.seconds.toFixed(1)} s`,
  )
  console.log(
    `  effects ${result.effects}, keys with one effect ${result.keysWithOneEffect}, keys whose answers were all ` +
      `identical ${result.keysWithOneAnswer}`,
  )
  console.log(
    `  another body: ${result.conflicts} of ${result.keys} answered 409; executed first ${result.firsts}, replayed ` +
      `${result.replays}; failures ${result.failures.length}`,
  )
  for (const line of result.failures.slice(0, 10)) console.log(`  ! ${line}`)
  const holds = [result.effects, result.keysWithOneEffect, result.keysWithOneAnswer, result.conflicts, result.firsts].every(
    (count) => count === result.keys,
  )
  console.log(holds && result.failures.length === 0 ? 'holds' : 'DOES NOT HOLD')
  process.exitCode = holds && result.failures.length === 0 ? 0 : 1
} finally {
  await lab.close()
}
