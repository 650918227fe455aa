/** Signs the user in, accepts the invitation in the URL, and signs out again: this page stores nothing. */
const form = document.querySelector('#join')
const outcome = document.querySelector('#outcome')

async function post(path, body, token) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  const answer = response.status === 204 ? null : await response.json()
  if (!response.ok) throw new Error(answer.detail)
  return answer
}

const token = location.pathname.split('/').at(-1)

/** Says who invites, to what, and in which role. Names are text, never markup. */
async function showInvitation() {
  const { organization, role, project, project_role, inviter } = await post('/auth/invitations/preview', { token })
  const place = project ? `${organization} as ${role}, and its project ${project} as ${project_role}` : `${organization} as ${role}`
  document.querySelector('#about').textContent =
    `${inviter ? `${inviter} invites you` : 'You are invited'} to join ${place}. Sign in or create an account to join. The link works once.`
}
showInvitation().catch((error) => {
  outcome.textContent = error.message
})

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { email, password, name } = Object.fromEntries(new FormData(form))
  const isNew = event.submitter?.value === 'sign-up'
  outcome.textContent = 'Joining…'
  try {
    const grant = await post(isNew ? '/auth/sign-up' : '/auth/sign-in', { email, password, ...(isNew ? { name } : {}) })
    try {
      const { role } = await post('/auth/invitations/accept', { token }, grant.access_token)
      outcome.textContent = `You have joined as ${role}. You can now sign in.`
      form.hidden = true
    } finally {
      await post('/auth/sign-out', { refresh_token: grant.refresh_token })
    }
  } catch (error) {
    outcome.textContent = error.message
  }
})
