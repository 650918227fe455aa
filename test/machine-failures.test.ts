// Goal: failures of the machine are reported clearly: an unusable folder or database in one line, a full disk as 507 with /ready
// failing until space is available, and a client that disconnects as neither an internal error nor an overload.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import Type from 'typebox'
import { ConfigError } from '#core/settings.ts'
import { Closed } from '#core/shapes.ts'
import { folderProblem, requireFolder } from '#start/data-folder.ts'
import { openDatabase } from '#db/open.ts'
import { DatabaseUnavailable } from '#db/failures.ts'
import { operation } from '#operation.ts'
import { asProblem } from '#pipeline/outside-problems.ts'
import { RasterError } from '#raster/errors.ts'
import { openLab, until } from './support/service.ts'
import { world } from './support/world.ts'

test('a data folder that cannot be used', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const parent = lab.dataDir()
  const file = path.join(parent, 'file')
  fs.writeFileSync(file, '')

  await t.test('ends the start with one line that names the setting, the folder and the reason', async () => {
    const service = lab.spawn({ env: { DATA_DIR: path.join(file, 'below') } })
    assert.equal((await service.exited).code, 1)
    assert.match(service.output(), /^DATA_DIR \S+\/file\/below cannot be used: a part of the path is a file, not a folder\. .*\n$/)
  })

  await t.test('is reported for every disk error', () => {
    assert.throws(() => requireFolder({ dataDir: file, databaseUrl: '' }), /is a file, not a folder/)
    try {
      fs.writeFileSync('/dev/full', 'x')
      assert.fail('a full disk takes nothing')
    } catch (error) {
      assert.match(folderProblem(error, parent)!.message, /no space left on the disk/)
      const elsewhere = Object.assign(new Error('no room'), { code: 'ENOSPC', path: '/somewhere/else' })
      assert.equal(folderProblem(elsewhere, parent), null, 'another disk is not the folder’s fault')
    }
    assert.ok(folderProblem(new Error('initdb failed: could not extend file: No space left on device'), parent) instanceof ConfigError)
    assert.equal(folderProblem(new Error('something else'), parent), null)
  })

  await t.test('a usable folder is left unchanged', () => {
    const folder = path.join(parent, 'new')
    requireFolder({ dataDir: folder, databaseUrl: 'postgres://elsewhere' })
    assert.deepEqual(fs.readdirSync(folder), [])
  })
})

test('a database that cannot be reached', async (t) => {
  await t.test('is reported while the start waits for it', async (t) => {
    const lab = openLab()
    t.after(() => lab.close())
    const service = lab.spawn({ env: { DATABASE_URL: 'postgres://who:secret-word@127.0.0.1:9/none', DATA_DIR: lab.dataDir() } })
    await until('the line', () => /The database cannot be reached \(.*ECONNREFUSED.*\); retrying for 30 s/.test(service.output()))
    assert.ok(!service.output().includes('secret-word'))
  })

  await t.test('is a 503 for callers', async () => {
    const database = openDatabase('postgres://who@127.0.0.1:9/none')
    try {
      const error = await sql`select 1`.execute(database.db).then(
        () => null,
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof DatabaseUnavailable)
      assert.equal(asProblem(error)!.status, 503)
    } finally {
      await database.close()
    }
  })
})

test('a database with a full disk', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  assert.equal((await w.request('GET', '/ready')).status, 200)
  await sql`create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(w.db)
  await sql`create function no_room_at_all() returns event_trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(w.db)
  await sql`create trigger no_room before insert on project execute function no_room()`.execute(w.db)
  assert.equal((await w.request('GET', '/ready')).status, 200, 'nothing has been noticed')
  await sql`create event trigger no_room on ddl_command_start when tag in ('CREATE TABLE AS') execute function no_room_at_all()`.execute(
    w.db,
  )

  const { status, body } = await w.call(org.owner.token, 'projects.create', { name: 'Too much' })
  assert.deepEqual(
    [status, body.code, body.detail],
    [507, 'insufficient-storage', 'The database has no disk space left. The request was rolled back.'],
  )
  const ready = await w.request('GET', '/ready')
  assert.deepEqual([ready.status, ready.body.code], [507, 'insufficient-storage'])
  assert.equal((await w.request('GET', '/health')).status, 200, 'the process itself is alive')
  assert.ok(
    w.logLines.some((line) => line.includes('"msg":"fault"') && line.includes('53100')),
    'the operator hears of it',
  )

  await sql`drop trigger no_room on project`.execute(w.db)
  await sql`drop event trigger no_room`.execute(w.db)
  assert.equal((await w.request('GET', '/ready')).status, 200, 'room was made')
  assert.equal((await w.call(org.owner.token, 'projects.create', { name: 'Fits' })).status, 200)
})

test('a client that disconnects', async (t) => {
  const begun = Promise.withResolvers<void>()
  const slow = operation({
    id: 'test.slow',
    scope: 'items:read',
    tier: 'read',
    input: Closed({}),
    output: Closed({ ok: Type.Boolean() }),
    example: { input: {} },
  }).handle({
    async execute({ signal }) {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      begun.resolve()
      await aborted
      throw new RasterError('aborted', 'The raster operation was cancelled')
    },
  })
  const w = await world(t, { operations: [slow] })
  const org = await w.organization()
  const leaving = new AbortController()
  const call = fetch(`${w.baseUrl}/v1/op/test.slow`, {
    method: 'POST',
    headers: { authorization: `Bearer ${org.owner.token}`, 'content-type': 'application/json' },
    body: '{}',
    signal: leaving.signal,
  })
  await begun.promise
  leaving.abort()
  await assert.rejects(call)
  const line = await until('its line in the log', () => w.logLines.find((each) => each.includes('"operation":"test.slow"')))
  assert.equal(JSON.parse(line).status, 499)
  const metrics = (await w.request('GET', '/metrics')).bytes.toString()
  assert.match(metrics, /groundtrack_call_seconds_count\{operation="test.slow",status="499"\} 1/)
  assert.ok(!w.logLines.some((each) => each.includes('"msg":"fault"')))
})
