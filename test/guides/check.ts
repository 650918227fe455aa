/** Runs a guide in a folder of its own, and compares what its blocks print with what it shows. */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { guideOf, packagesOf } from './blocks.ts'
import { lacks, PYTHON, run } from './run.ts'
import type { Lab } from '../support/service.ts'

const hasTool = (name: string): boolean => (process.env['PATH'] ?? '').split(':').some((folder) => fs.existsSync(path.join(folder, name)))

/** Statuses of problems that a block printed, and of those that the guide shows, where a problem may be shortened. */
const PRINTED = /\/problems\/[\w-]+","title":"[^"]*","status":(\d+)/g
const SHOWN = /"status": ?([45]\d\d)\b/g
const statusesIn = (text: string, problems: RegExp): number[] => [...text.matchAll(problems)].map(([, status]) => Number(status))

export async function checkGuide(t: TestContext, page: string, lab: Lab, given: Record<string, string>): Promise<void> {
  const { programs, blocks: all } = guideOf(fs.readFileSync(page, 'utf8'))
  const blocks = all.filter(({ needs }) => needs === null || hasTool('gdalinfo'))
  const missing = packagesOf(programs.python).filter(lacks)
  if (missing.length > 0) await t.test('its Python', { skip: `${PYTHON} has no ${missing.join(' and no ')}` })
  const runnable = { ...programs, python: missing.length > 0 ? '' : programs.python }
  const folder = lab.dataDir()
  const { printed, complaint } = await run({ blocks, programs: runnable }, folder, given)
  assert.equal(complaint, '')
  for (const text of printed.slice(blocks.length)) assert.notEqual(text.trim(), '', 'a program says what it has done')
  assert.equal(printed.length, blocks.length + Object.values(runnable).filter((code) => code !== '').length)
  for (const file of fs.readdirSync(folder).filter((name) => /\.(png|webp|jpg|tif)$/.test(name)))
    assert.doesNotMatch(fs.readFileSync(path.join(folder, file), 'latin1').slice(0, 500), /^\s*(\{|$)/, `${file} is no picture`)
  for (const [index, { code, shown }] of blocks.entries()) {
    const text = printed[index]!
    assert.deepEqual(statusesIn(text, PRINTED), statusesIn(shown ?? '', SHOWN), `${code}\nprinted\n${text.slice(0, 2_000)}`)
    const names = [...(shown ?? '').matchAll(/"(\w+)": ?(?!")|"(\w+)": ?"(?!…)/g)].map(([, bare, quoted]) => bare ?? quoted!)
    for (const name of names)
      assert.ok(text.includes(`"${name}"`), `${name} is shown after\n${code}\nwhich printed\n${text.slice(0, 2_000)}`)
  }
}
