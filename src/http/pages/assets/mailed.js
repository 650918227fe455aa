// Sends the token of the link with the form, and shows the result.
const form = document.querySelector('form[data-post]')
const result = document.querySelector('[data-result]')
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
history.replaceState(null, '', location.pathname)

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const response = await fetch(form.dataset.post, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) }),
  }).catch(() => null)
  if (response?.ok) {
    form.remove()
    result.textContent = form.dataset.done
  } else result.textContent = response ? (await response.json()).detail : 'Cannot reach the service. Try again shortly.'
})
