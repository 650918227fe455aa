// Posts the token of the link together with what was typed, and says what came of it.
const form = document.querySelector('form[data-post]')
const said = document.querySelector('[data-said]')
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
history.replaceState(null, '', location.pathname)

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const answer = await fetch(form.dataset.post, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) }),
  }).catch(() => null)
  if (answer?.ok) {
    form.remove()
    said.textContent = form.dataset.done
  } else said.textContent = answer ? (await answer.json()).detail : 'The service cannot be reached; try again in a moment.'
})
