import assert from 'node:assert/strict'
import { call, createOwner, ok, post } from '../../support/client.ts'
import type { ExposedRow } from '../row.ts'

export default {
  row: 27,
  async attempt({ service: { baseUrl }, env }) {
    const owner = await createOwner(baseUrl, 'row-27@example.com')
    const { invitation } = await ok(baseUrl, owner.token, 'organizations.members.invite', { email: 'invited@example.com' })
    assert.ok(invitation.url.startsWith(`${env['BASE_URL']}/invite/inv_`), invitation.url)
    const impostor = await post(baseUrl, '/auth/sign-up', { email: 'invited@example.com', password: 'long enough', name: 'x' })
    assert.equal(impostor.body.organization_id, null)
    const { id: project_id } = await ok(baseUrl, owner.token, 'projects.create', { name: 'x' })
    const added = await call(baseUrl, owner.token, 'projects.add_member', { project_id, user_id: impostor.body.user.id })
    assert.equal(added.status, 404)
    const accept = (token: string) =>
      post(baseUrl, '/auth/invitations/accept', { token }, { authorization: `Bearer ${impostor.body.access_token}` })
    assert.equal((await accept('inv_guessed')).status, 404)
    const page = await fetch(`${baseUrl}/invite/${invitation.url.split('/').at(-1)}`)
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer', 'the link stays out of other logs')
    assert.equal((await accept(invitation.url.split('/').at(-1)!)).body.organization_id, owner.organizationId)
  },
} satisfies ExposedRow
