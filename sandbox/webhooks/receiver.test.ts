import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSandboxReceiver } from './receiver.ts'

// Goal: the sandbox's webhook endpoint keeps the latest deliveries with their signatures, and nothing at any other path.
test('the webhook endpoint of the sandbox', async (t) => {
  const receiver = await startSandboxReceiver()
  t.after(() => receiver.close())
  const post = (url: string, body: string) =>
    fetch(url, { method: 'POST', body, headers: { 'x-svc-signature': 'sha256=1', 'x-gateway-key': 'secret' } })
  const received = async () => ((await (await fetch(receiver.url)).json()) as { received: { headers: object; body: unknown }[] }).received

  assert.equal((await post(receiver.url, '{"n":0}')).status, 204)
  const [first] = await received()
  assert.deepEqual([first?.headers, first?.body], [{ 'x-svc-signature': 'sha256=1' }, { n: 0 }])
  for (let n = 1; n <= 60; n++) await post(receiver.url, JSON.stringify({ n }))
  const latest = await received()
  assert.deepEqual([latest.length, latest[0]?.body, latest.at(-1)?.body], [50, { n: 60 }, { n: 11 }])
  assert.equal((await post(receiver.url, 'x'.repeat(300_000))).status, 413)
  for (const address of [`${receiver.url}x`, `http://${receiver.host}/`]) assert.equal((await fetch(address)).status, 404, address)
  assert.equal((await fetch(receiver.url, { method: 'DELETE' })).status, 405)
})
