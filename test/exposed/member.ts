import { ok, post, type Owner } from '../support/client.ts'

/** The token of somebody who joined the owner's organization by an invitation. */
export async function joined(baseUrl: string, owner: Owner, email: string): Promise<string> {
  const { invitation } = await ok(baseUrl, owner.token, 'organizations.members.invite', { email })
  const { body } = await post(baseUrl, '/auth/sign-up', { email, password: 'long enough', name: 'Member' })
  const authorization = `Bearer ${body.access_token}`
  await post(baseUrl, '/auth/invitations/accept', { token: invitation.url.split('/').at(-1) }, { authorization })
  const choice = { refresh_token: body.refresh_token, organization_id: owner.organizationId }
  return (await post(baseUrl, '/auth/refresh', choice)).body.access_token
}
