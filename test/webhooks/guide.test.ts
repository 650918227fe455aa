import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { receiver } from '../support/receiver.ts'
import { world } from '../support/world.ts'

const GUIDE = readFileSync(path.join(import.meta.dirname, '../../docs/guides/webhooks.md'), 'utf8')
const block = (language: string) => new RegExp(`^In \\w+:\\n\\n\`\`\`${language}\\n(.*?)\`\`\``, 'ms').exec(GUIDE)![1]!

/** The guide's own code, with what reads the delivery around it: prints true or false. */
const PROGRAMS = {
  TypeScript: {
    command: [process.execPath, '--disable-warning=ExperimentalWarning', 'verify.ts'],
    file: 'verify.ts',
    text: `import { readFileSync } from 'node:fs'
${block('ts')}
const [, , signature, secret] = process.argv
console.log(isGenuine(readFileSync(0), signature!, secret!))
`,
  },
  Python: {
    command: ['python3', 'verify.py'],
    file: 'verify.py',
    text: `import sys
sys.path.insert(0, ${JSON.stringify(path.join(import.meta.dirname, '../../packages/python/src'))})
${block('python')}
print(str(receive(sys.stdin.buffer.read(), sys.argv[1], sys.argv[2]) == 204).lower())
`,
  },
  Go: {
    command: ['go', 'run', 'verify.go'],
    file: 'verify.go',
    text: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

${block('go')}
func main() {
	body, _ := io.ReadAll(os.Stdin)
	fmt.Println(isGenuine(body, os.Args[1], os.Args[2]))
}
`,
  },
}

// Goal: the guide's code accepts a real delivery and rejects a modified one, in each language.
test('the guide verifies real deliveries', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { egressAllow: [endpoint.host] })
  const org = await w.organization()
  const wanted = { event_type: 'collection.created', endpoint_url: endpoint.url }
  const { signing_secret: secret } = await w.ok(org.owner.token, 'event_subscriptions.create', wanted)
  await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Größe 大 ☂' })
  await w.deliver()
  const { text, headers } = endpoint.received[0]!
  const signature = headers['x-svc-signature'] as string
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [language, { command, file, text: program }] of Object.entries(PROGRAMS))
    await t.test(language, (t) => {
      const [name, ...rest] = command as [string, ...string[]]
      if (spawnSync(name, [name === 'go' ? 'version' : '--version']).status !== 0) return t.skip(`there is no ${name} on this machine`)
      writeFileSync(path.join(folder, file), program)
      const says = (body: string, signed: string, key: string) => {
        const { stdout, stderr } = spawnSync(name, [...rest, signed, key], { cwd: folder, input: body, encoding: 'utf8' })
        return stdout.trim().split('\n').at(-1) || stderr
      }
      assert.equal(says(text, signature, secret), 'true')
      assert.equal(says(text.replace('Gr', 'gr'), signature, secret), 'false')
      assert.equal(says(text, signature, `${secret}x`), 'false')
      assert.equal(says(text, 'sha256=', secret), 'false')
    })
})
