/**
 * `GET /reset` and `GET /confirm`: where links of mails lead. The token stands behind the `#`, so that it reaches no log and no
 * other site; a script of ours posts it.
 */
import type { FastifyInstance } from 'fastify'
import { layout, sendPage } from './layout.ts'

const HEAD = '<meta name="robots" content="noindex">\n<script src="/assets/mailed.js" defer></script>\n'
const SAID = '<p class="lead" role="status" data-said></p>'

const RESET = layout({
  title: 'Choose a new password',
  path: '/reset',
  kind: 'prose',
  head: HEAD,
  body: `<h1>Choose a new password</h1>
<form data-post="/auth/reset" data-done="Your password is changed. Sign in with it wherever you work.">
<p><label>New password, at least 10 characters<br>
<input type="password" name="password" autocomplete="new-password" minlength="10" required></label></p>
<p><button type="submit">Change the password</button></p>
</form>
${SAID}
<noscript>This page needs JavaScript to send the link's token.</noscript>`,
})

const CONFIRM = layout({
  title: 'Confirm your address',
  path: '/confirm',
  kind: 'prose',
  head: HEAD,
  body: `<h1>Confirm your address</h1>
<form data-post="/auth/confirm" data-done="Your address is confirmed. Sign in again.">
<p>The first confirmation signs out every session and ends API keys, invitations, share links and webhooks created before it.</p>
<p><button type="submit">Confirm</button></p>
</form>
${SAID}
<noscript>This page needs JavaScript to send the link's token.</noscript>`,
})

export function registerMailedPages(app: FastifyInstance): void {
  app.get('/reset', async (_request, reply) => sendPage(reply, RESET))
  app.get('/confirm', async (_request, reply) => sendPage(reply, CONFIRM))
}
