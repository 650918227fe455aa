/** Calls a service the way any client does. */
export interface Reply {
  status: number
  /** Parsed JSON, or null for anything else. */
  body: any // oxlint-disable-line typescript/no-explicit-any
  text: string
  headers: Headers
  invocationId: string | null
}

export async function post(baseUrl: string, path: string, input: object, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(input),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : null,
    invocationId: response.headers.get('x-svc-invocation-id'),
  }
}

export function call(baseUrl: string, credential: string, id: string, input: object, headers: Record<string, string> = {}): Promise<Reply> {
  return post(baseUrl, `/v1/op/${id}`, input, { authorization: `Bearer ${credential}`, ...headers })
}

// oxlint-disable-next-line typescript/no-explicit-any
export async function ok(baseUrl: string, credential: string, id: string, input: object = {}): Promise<any> {
  const { status, text, body } = await call(baseUrl, credential, id, input)
  if (status !== 200) throw new Error(`${id} answered ${status}: ${text}`)
  return body
}

export interface Owner {
  userId: string
  email: string
  organizationId: string
  token: string
  refreshToken: string
}

export const PASSWORD = 'correct horse battery'

/** A new person with an organization of their own. */
export async function createOwner(baseUrl: string, email: string): Promise<Owner> {
  const { status, body, text } = await post(baseUrl, '/auth/sign-up', { email, password: PASSWORD, name: 'Owner' })
  if (status !== 201) throw new Error(`sign-up answered ${status}: ${text}`)
  const { id } = await ok(baseUrl, body.access_token, 'organizations.create', { name: 'Organization' })
  const { body: acting } = await post(baseUrl, '/auth/refresh', { refresh_token: body.refresh_token, organization_id: id })
  return { userId: body.user.id, email, organizationId: id, token: acting.access_token, refreshToken: acting.refresh_token }
}
