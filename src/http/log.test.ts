import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.ts'

// Goal: no secret reaches the log, in a line, in an object that a line shows, or in what is bound to a logger; the rest is unchanged.
test('log', async (t) => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const logged = (fields: object): Record<string, unknown> => {
    log.info(fields, 'message')
    const { level: _level, time: _time, ...rest } = JSON.parse(lines.at(-1)!) as Record<string, unknown>
    return rest
  }
  const secret = 'correct horse'
  const names = ['password', 'key', 'token', 'access_token', 'refresh_token', 'secret', 'authorization']

  await t.test('secrets are struck by name', () => {
    for (const name of names) {
      const fields = { [name]: secret, headers: { [name]: secret, host: 'x' }, status: 200 }
      assert.deepEqual(logged(fields), { [name]: '[struck]', headers: { [name]: '[struck]', host: 'x' }, status: 200, msg: 'message' })
      assert.equal(fields.headers[name], secret, 'what the caller holds is not changed')
      log
        .child({ [name]: secret })
        .child({ headers: { [name]: secret } })
        .info('bound')
      assert.ok(!lines.at(-1)!.includes(secret))
      assert.equal(lines.at(-1)!.match(/\[struck\]/g)!.length, 2)
    }
  })

  await t.test('other fields are written as they are', () => {
    const fields = { invocation: 'a', ms: 1, organization: null, keys: 3, list: [{ token: 1 }], when: new Date(0), isNew: true }
    assert.deepEqual(logged(fields), { ...fields, when: '1970-01-01T00:00:00.000Z', msg: 'message' })
  })

  await t.test('errors have a message, a stack and a code, but no other fields', () => {
    const error = Object.assign(new Error('no key svc_abcdefgh_secret'), { code: 'X1', detail: secret, key: secret })
    const { err } = logged({ err: error }) as { err: Record<string, unknown> }
    assert.deepEqual([err['message'], err['code']], ['no key [struck]', 'X1'])
    assert.deepEqual(Object.keys(err), ['name', 'message', 'stack', 'code'])
    assert.ok(!lines.at(-1)!.includes(secret))
  })
})
