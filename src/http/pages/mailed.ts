/**
 * `GET /reset`, `GET /confirm` and `GET /change-email`: the pages that links in emails open. The token follows the `#`, so that it
 * reaches no log and no other site; a script sends it.
 */
import type { FastifyInstance } from 'fastify'
import { layout, sendPage } from './layout.ts'

const HEAD = '<meta name="robots" content="noindex">\n<script src="/assets/mailed.js" defer></script>\n'
const RESULT = '<p class="lead" role="status" data-result></p>'

const RESET = layout({
  title: 'Choose a new password',
  path: '/reset',
  kind: 'prose',
  head: HEAD,
  body: `<h1>Choose a new password</h1>
<form data-post="/auth/reset" data-done="Your password was changed. Sign in with the new password.">
<p><label>New password, at least 10 characters<br>
<input type="password" name="password" autocomplete="new-password" minlength="10" required></label></p>
<p><button type="submit">Change password</button></p>
</form>
${RESULT}
<noscript>This page needs JavaScript to send the link's token.</noscript>`,
})

const CONFIRM = layout({
  title: 'Confirm your email address',
  path: '/confirm',
  kind: 'prose',
  head: HEAD,
  body: `<h1>Confirm your email address</h1>
<form data-post="/auth/confirm" data-done="Your email address is confirmed. Sign in again.">
<p>The first confirmation ends all sessions, revokes API keys, invitations and share links, and pauses webhooks created before it.</p>
<p><button type="submit">Confirm</button></p>
</form>
${RESULT}
<noscript>This page needs JavaScript to send the link's token.</noscript>`,
})

const CHANGE_EMAIL = layout({
  title: 'Confirm your new email address',
  path: '/change-email',
  kind: 'prose',
  head: HEAD,
  body: `<h1>Confirm your new email address</h1>
<form data-post="/auth/email/confirm" data-done="Your email address was changed. From now on, sign in with it.">
<p>You then sign in with this address. The old address is notified.</p>
<p><button type="submit">Confirm</button></p>
</form>
${RESULT}
<noscript>This page needs JavaScript to send the link's token.</noscript>`,
})

export function registerMailedPages(app: FastifyInstance): void {
  app.get('/reset', async (_request, reply) => sendPage(reply, RESET))
  app.get('/confirm', async (_request, reply) => sendPage(reply, CONFIRM))
  app.get('/change-email', async (_request, reply) => sendPage(reply, CHANGE_EMAIL))
}
