// Goal: a number that the register would not accept is not stored, whatever its spaces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAbn, parseAbn } from './abn.ts'

test('Australian Business Numbers', () => {
  // The example of the Australian Business Register, and numbers of public bodies.
  for (const abn of ['51 824 753 556', '51824753556', '53 004 085 616', '33 102 417 032']) assert.equal(parseAbn(abn)?.length, 11, abn)
  for (const wrong of ['51 824 753 557', '15 824 753 556', '5182475355', '518247535560', '00 000 000 000', 'ABN 51 824 753 556', ''])
    assert.equal(parseAbn(wrong), null, wrong)
  assert.equal(formatAbn('51824753556'), '51 824 753 556')
})
