import assert from 'node:assert/strict'
import { test } from 'node:test'
import accountNotice from '#domains/notifications/account-notice.task.ts'
import changeEmail from '#domains/notifications/change-email.task.ts'
import { mailsIn, tokenIn } from './support/mails.ts'
import { world, type Person, type World } from './support/world.ts'

const bearer = (who: { token: string }) => ({ authorization: `Bearer ${who.token}` })
const get = (w: World, who: { token: string }, path: string) => w.request('GET', path, { headers: bearer(who) })
const post = (w: World, who: { token: string }, path: string, body: object = {}) => w.post(path, body, bearer(who))

// Goal: users change their name and how the console writes numbers; nothing else changes with it.
test('name, language and units', async (t) => {
  const w = await world(t)
  const who = await w.person()
  const set = (body: object) => post(w, who, '/auth/settings', body)
  const me = async () => (await get(w, who, '/auth/me')).body
  assert.deepEqual([(await me()).language, (await me()).units], [null, null])
  assert.equal((await set({ name: '  Ana Pereira ', language: 'de-DE' })).status, 204)
  assert.equal((await set({ units: 'imperial' })).status, 204)
  const { user, language, units } = await me()
  assert.deepEqual([user.name, user.email, language, units], ['Ana Pereira', who.email, 'de-DE', 'imperial'])
  assert.equal((await set({ language: null })).status, 204)
  assert.equal((await me()).language, null)
  for (const wrong of [{ name: ' ' }, { language: 'xx' }, { units: 'cubits' }, { email: 'a@b.example' }])
    assert.equal((await set(wrong)).status, 422, JSON.stringify(wrong))
  const { key } = await w.key((await w.organization()).owner.token)
  assert.equal((await w.post('/auth/settings', {}, { authorization: `Bearer ${key}` })).status, 403)
})

// Goal: an address changes only with the password and a link that the new address received; the old address is told.
test('changing the email address', async (t) => {
  const w = await world(t, { systemAdminEmails: ['root@example.com'], maySignUp: false })
  const ask = (who: Person, email: string, password = who.password) => post(w, who, '/auth/email', { email, password })
  const tokenFor = async (email: string) => {
    await w.drain(changeEmail)
    return tokenIn(mailsIn(w.mailDir, email).at(-1)!)
  }
  const confirm = (token: string) => w.post('/auth/email/confirm', { token })
  const signInStatus = async (email: string, { password }: Person) => (await w.post('/auth/sign-in', { email, password })).status

  await t.test('with the link, once, and the old address is told', async () => {
    const org = await w.organization()
    const { owner } = org
    assert.equal((await ask(owner, 'new@example.com', 'not the password')).status, 403)
    assert.equal((await ask(owner, 'New@Example.com ')).status, 422)
    assert.equal((await ask(owner, 'New@Example.com')).status, 202)
    assert.equal((await get(w, owner, '/auth/me')).body.pending_email, 'new@example.com')
    assert.equal(await signInStatus('new@example.com', owner), 401, 'not before it is confirmed')
    const token = await tokenFor('new@example.com')
    assert.equal((await confirm(token)).status, 204)
    assert.equal((await confirm(token)).status, 400)
    assert.equal(await signInStatus(owner.email, owner), 401)
    assert.equal(await signInStatus('new@example.com', owner), 200)
    const me = (await get(w, owner, '/auth/me')).body
    assert.deepEqual([me.user.email, me.pending_email], ['new@example.com', null])
    await w.drain(accountNotice)
    const [notice] = mailsIn(w.mailDir, owner.email).filter((mail) => mail.includes('Your email address was changed'))
    assert.match(notice!, /new@example\.com/)
    const { entries } = await w.ok(owner.token, 'organizations.audit.list', {})
    assert.ok(entries.some(({ operation }: { operation: string }) => operation === 'auth.email_changed'))
  })

  await t.test('a later request, a new password and 24 hours end a link', async () => {
    const who = await w.person()
    await ask(who, 'first@example.com')
    const first = await tokenFor('first@example.com')
    await ask(who, 'second@example.com')
    assert.equal((await confirm(first)).status, 400)
    const second = await tokenFor('second@example.com')
    assert.equal((await post(w, who, '/auth/password', { password: who.password, new_password: 'another long one' })).status, 204)
    assert.equal((await confirm(second)).status, 400)
    const slow = await w.person()
    await ask(slow, 'third@example.com')
    const third = await tokenFor('third@example.com')
    w.clock.advance({ hours: 24 })
    assert.equal((await confirm(third)).status, 400)
  })

  await t.test('nobody takes an address that is in use, or one with a role', async () => {
    const who = await w.person()
    const other = await w.person()
    assert.equal((await ask(who, other.email)).status, 400)
    assert.equal((await ask(who, 'root@example.com')).status, 403)
    assert.equal((await ask(who, 'wanted@example.com')).status, 202)
    const token = await tokenFor('wanted@example.com')
    await w.person('wanted@example.com')
    assert.equal((await confirm(token)).status, 400, 'somebody was faster')
  })

  await t.test('emails to strangers are limited', async () => {
    const who = await w.person()
    for (let n = 0; n < 5; n++) assert.equal((await ask(who, `stranger-${n}@example.com`)).status, 202)
    assert.equal((await ask(who, 'stranger-6@example.com')).status, 429)
  })
})

// Goal: users recognize their sessions, and end one or all others.
test('sessions by device', async (t) => {
  const w = await world(t)
  const who = await w.person()
  const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const { email, password } = who
  const enter = async () => (await w.post('/auth/sign-in', { email, password }, { 'user-agent': agent })).body as { access_token: string }
  const laptop = { token: (await enter()).access_token }
  const list = async () => (await get(w, who, '/auth/sessions')).body.sessions as { id: string; device: string; is_current: boolean }[]
  const [other] = (await list()).filter(({ is_current }) => !is_current)
  assert.deepEqual(
    { ...other, id: 0, created_at: 0, last_used_at: 0, expires_at: 0 },
    {
      id: 0,
      organization_id: null,
      device: 'Firefox on Windows',
      address: '127.0.0.1',
      created_at: 0,
      last_used_at: 0,
      expires_at: 0,
      is_current: false,
    },
  )
  const end = (by: { token: string }, session_id: string) => post(w, by, '/auth/sessions/end', { session_id })
  assert.equal((await end(await w.person(), other!.id)).status, 404, 'of somebody else')
  assert.equal((await get(w, laptop, '/auth/me')).status, 200)
  assert.equal((await end(who, other!.id)).status, 204)
  assert.equal((await get(w, laptop, '/auth/me')).status, 401)
  assert.equal((await end(who, other!.id)).status, 404)
  for (let n = 0; n < 3; n++) await enter()
  assert.equal((await list()).length, 4)
  assert.equal((await post(w, who, '/auth/sessions/end-others')).status, 204)
  assert.deepEqual(
    (await list()).map(({ is_current }) => is_current),
    [true],
  )
})

// Goal: the owner of an account is told when it is deleted or its password changes, and nothing of its factors is left.
test('emails about an account', async (t) => {
  const w = await world(t)
  const who = await w.person()
  await post(w, who, '/auth/two-factors/authenticator/start', { password: who.password })
  await post(w, who, '/auth/password', { password: who.password, new_password: 'another long one' })
  assert.equal((await post(w, who, '/auth/delete-account', { password: 'another long one' })).status, 204)
  await w.drain(accountNotice)
  const mails = mailsIn(w.mailDir, who.email)
  for (const subject of ['Your password was changed', 'Your account was deleted'])
    assert.ok(
      mails.some((mail) => mail.includes(subject)),
      subject,
    )
  assert.deepEqual(await w.db.selectFrom('totp_factor').selectAll().where('user_id', '=', who.id).execute(), [])
})
