import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.ts'
import { terminalLog } from './terminal.ts'

// Goal: in a terminal, a call is one short line, an error says what and where, and redacted values stay redacted.
test('the log in a terminal', () => {
  const written: string[] = []
  const log = createLog(
    'debug',
    terminalLog((text) => written.push(text), false),
  )
  log.info({ operation: 'projects.list', status: 200, ms: 12, address: '127.0.0.1' }, 'call')
  log.warn('PAYMENTS=sandbox takes no real money')
  log.error({ err: new Error('no such table, key svc_abcdefgh_secret'), operation: 'items.get' }, 'fault')
  const [call, warning, fault] = written
  assert.match(call!, /^\d\d:\d\d:\d\d {2}projects\.list +200 12 ms\n$/)
  assert.match(warning!, /^\d\d:\d\d:\d\d {2}warning PAYMENTS=sandbox/)
  assert.match(fault!, /error items\.get: fault: no such table, key \[struck\]\n.*Error: no such table/)
  assert.doesNotMatch(written.join(''), /secret|127\.0\.0\.1/)
  const coloured: string[] = []
  createLog(
    'info',
    terminalLog((text) => coloured.push(text), true),
  ).info({ operation: 'x.y', status: 500, ms: 1 }, 'call')
  assert.ok(coloured[0]!.includes('\u001b[31m500'))
})
