// Goal: whatever several callers write and read through two processes, while replay is paused and resumed at random, nobody is shown older
// data than its own acknowledged write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign, testSeed } from '../support/campaign.ts'
import { seeded } from '../support/random.ts'
import { NO_SERVER, replicaState, replicated, untilUsed } from '../support/replicated.ts'

const STEPS = campaign({ short: 150, long: 1_500, ci: 300 })
const CALLERS = 4

test('random writes and reads', async (t) => {
  const database = await replicated(t)
  if (!database) return t.skip(NO_SERVER)
  const seed = testSeed
  t.diagnostic(`seed ${seed}`)
  const random = seeded(seed)
  const processes = [await database.process(), await database.process()]
  for (const each of processes) await untilUsed(each)

  /** Two callers of an organization, a user and a key, must see each other's writes as well. */
  const callers: { token: string; projectId: string; shared: { names: Map<string, string> } }[] = []
  for (let n = 0; n < CALLERS / 2; n++) {
    const org = await processes[0]!.organization()
    const { key } = await processes[0]!.key(org.owner.token, ['read', 'write'])
    const shared = { names: new Map<string, string>() }
    for (const token of [org.owner.token, key]) callers.push({ token, projectId: org.projectId, shared })
  }

  /** Each caller does one thing after the other; callers of one organization share one model, so they take turns. */
  const act = async ({ token, projectId, shared }: (typeof callers)[number], step: number): Promise<void> => {
    const w = random.pick(processes)
    const known = [...shared.names]
    if (known.length === 0 || random.next() < 0.15) {
      const { id } = await w.ok(token, 'collections.create', { project_id: projectId, name: `new ${step}` })
      shared.names.set(id, `new ${step}`)
    } else if (random.next() < 0.3) {
      const [id] = random.pick(known)
      await w.ok(token, 'collections.update', { project_id: projectId, collection_id: id, name: `renamed ${step}` })
      shared.names.set(id, `renamed ${step}`)
    } else {
      const collections = await w.ok(token, 'collections.list', { project_id: projectId })
      const found = new Map<string, string>(collections.map(({ id, name }: { id: string; name: string }) => [id, name]))
      assert.deepEqual(new Map([...found].toSorted()), new Map([...shared.names].toSorted()), `step ${step} of seed ${seed}`)
    }
  }
  const organizations = [...new Set(callers.map(({ shared }) => shared))]
  const acting = organizations.map(async (shared) => {
    const own = callers.filter((caller) => caller.shared === shared)
    for (let step = 0; step < STEPS; step++) await act(random.pick(own), step)
  })
  let isOver = false
  const pausing = (async () => {
    for (let isPaused = false; !isOver; isPaused = !isPaused) {
      await database.replica.run(isPaused ? 'select pg_wal_replay_resume()' : 'select pg_wal_replay_pause()')
      const until = random.integer(5, 40)
      for (let n = 0; n < until && !isOver; n++) await database.replica.run('select 1')
    }
  })()
  await Promise.all(acting).finally(() => {
    isOver = true
  })
  await pausing
  const reads = processes.reduce((sum, each) => sum + replicaState(each).reads, 0)
  t.diagnostic(`${reads} reads by the replica`)
  assert.ok(reads > 0, 'the replica served some of them')
})
