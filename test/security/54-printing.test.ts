import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '#core/problem.ts'
import { createPrinter } from '#services/documents/printer.ts'
import type { ReportDocument } from '#services/documents/report.ts'
import { world } from '../support/world.ts'

const report = (rows: number): ReportDocument => ({
  title: 'Many rows',
  subject: 'What takes long to draw',
  organization: 'Somebody',
  createdAt: new Date(0),
  period: null,
  facts: [],
  map: null,
  charts: [],
  tables: [
    {
      title: 'Rows',
      columns: [
        { key: 'a', label: 'A', share: 1 },
        { key: 'b', label: 'B', share: 1, isNumber: true },
      ],
      rows: Array.from({ length: rows }, (_, index) => [`row ${index}`, index]),
      more: 0,
    },
  ],
})

// Goal: documents are rendered off the event loop, in rotation by organization, with limits of time and memory.
test('row 54: documents that take long to render', async (t) => {
  await t.test('the event loop stays free while one is rendered', async () => {
    const printer = createPrinter()
    let turns = 0
    let isDone = false
    const count = () => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const bytes = await printer.print('a', 'report', report(5_000))
    isDone = true
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    assert.ok(turns > 200, `it turned ${turns} times`)
    await printer.close()
  })

  await t.test('organizations are served in rotation', async () => {
    const printer = createPrinter()
    const order: string[] = []
    const print = async (who: string) => {
      await printer.print(who, 'report', report(10))
      order.push(who)
    }
    await Promise.all(['a', 'a', 'a', 'a', 'a', 'b'].map(print))
    assert.ok(order.indexOf('b') <= 2, order.join(' '))
    await printer.close()
  })

  await t.test('one that exceeds its time or memory is cancelled, and the next is rendered', async () => {
    for (const limits of [{ deadlineMs: 1 }, { memoryMb: 16 }]) {
      const printer = createPrinter(limits)
      await assert.rejects(printer.print('a', 'report', report(60_000)), (error) => {
        assert.ok(error instanceof Problem, String(error))
        assert.equal(error.status, 400)
        assert.match(error.message, /too large to be printed/)
        return true
      })
      await printer.close()
    }
    const printer = createPrinter({ memoryMb: 64 })
    await assert.rejects(printer.print('a', 'report', report(400_000)))
    assert.equal((await printer.print('a', 'report', report(1))).subarray(0, 5).toString(), '%PDF-')
    await printer.close()
  })

  await t.test('reports and invoices are rendered this way', async () => {
    const w = await world(t)
    const org = await w.organization()
    const report = await w.ok(org.owner.token, 'reports.generate', { report_type: 'project', project_id: org.projectId })
    assert.equal(report.format, 'pdf')
    const bytes = Buffer.from(await (await fetch(report.url)).arrayBuffer())
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
  })
})
