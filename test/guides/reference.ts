/** Calls operations with the examples that the reference page shows on a service with the demo, as a reader does by its buttons. */
import assert from 'node:assert/strict'
import { operations } from '#registry.ts'
import { withDemoExamples } from '../../src/http/pages/assets/demo-examples.ts'
import { until } from '../support/service.ts'

const DEMO_MS = 1_800_000
/** Scopes of roles that an operator gives to people; the demo account has none of them. */
const NOT_FOR_DEMO = /^(admin|clip):/
/** What the demo has none of, and why. */
const LACKING: ReadonlyMap<string, string> = new Map([
  ['organizations.commitments.statement', 'only organizations with a contract have one'],
  ['share.wmts_capabilities', 'only public links have them'],
])

// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any

/** Whether an example says a value of the demo anywhere. */
const isAboutDemo = (example: unknown, values: readonly string[]): boolean =>
  values.some((value) => JSON.stringify(example ?? null).includes(value))

export async function callExamples(baseUrl: string): Promise<void> {
  const demo = await until(
    'the demo',
    async () => {
      const shown: Answer = await (await fetch(`${baseUrl}/docs/demo.json`)).json()
      return shown.fields.share_token && shown.fields.rule_id && shown.fields.job_id ? shown : null
    },
    DEMO_MS,
  )
  const contract: Answer = withDemoExamples((await (await fetch(`${baseUrl}/openapi.json`)).json()) as Record<string, unknown>, demo.fields)
  const post = (path: string, body: unknown, token?: string) =>
    fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(body),
    })
  const { access_token: token }: Answer = await (await post('/auth/sign-in', { email: demo.email, password: demo.password })).json()
  const exampleOf = (id: string) => contract.paths[`/v1/op/${id}`]?.post.requestBody?.content['application/json'].example
  const values = Object.values(demo.fields as Record<string, string>)
  const refused: string[] = []
  let called = 0
  for (const op of operations.values()) {
    const example = exampleOf(op.id)
    if (op.tier !== 'read' || NOT_FOR_DEMO.test(op.scope) || LACKING.has(op.id) || !isAboutDemo(example, values)) continue
    const answer = await post(`/v1/op/${op.id}`, example, token)
    called++
    if (!answer.ok) refused.push(`${op.id} ${JSON.stringify(example)}: ${answer.status} ${(await answer.text()).slice(0, 300)}`)
  }
  assert.deepEqual(refused, [])
  assert.ok(called >= 30, `${called} examples`)
  const hook = await post('/v1/op/event_subscriptions.create', exampleOf('event_subscriptions.create'), token)
  assert.equal(hook.status, 200, 'the endpoint of the example can be reached')
  const { id } = (await hook.json()) as { id: string }
  assert.equal((await post('/v1/op/event_subscriptions.test', { subscription_id: id }, token)).status, 200)
  assert.equal((await post('/v1/op/event_subscriptions.delete', { subscription_id: id }, token)).status, 200)
}
