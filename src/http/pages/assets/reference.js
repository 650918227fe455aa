// Runs in the browser. Opens the reference on this service's own contract.
import { withDemoExamples } from '/assets/demo-examples.ts'
import { withPlainNulls } from '/assets/plain-nulls.ts'

const GRANTS = ['/auth/sign-up', '/auth/sign-in', '/auth/refresh']

window.addEventListener('load', async () => {
  followColourScheme()
  nameFilter()
  const contract = withPlainNulls(await (await fetch('/openapi.json')).json())
  // Calls go to the address that the page came from, by whatever name the reader reached it.
  contract.servers = [{ url: window.location.origin }]
  // On the reader's own machine the demo's sign-in is public, and works as it stands.
  const demo = await fetch('/docs/demo.json')
    .then((answer) => answer.json())
    .catch(() => ({}))
  const signIn = contract.paths['/auth/sign-in']?.post?.requestBody?.content?.['application/json']
  if (signIn && demo.email) signIn.example = { email: demo.email, password: demo.password }
  if (demo.fields) withDemoExamples(contract, demo.fields)
  const ui = window.SwaggerUIBundle({
    spec: contract,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    filter: true,
    displayRequestDuration: true,
    persistAuthorization: false,
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 3,
    validatorUrl: null,
    plugins: [{ fn: { opsFilter } }, { wrapComponents: { JSONSchema202012KeywordType: nameTypes } }],
    // Whoever signs in here is signed in: the token need not be copied by hand.
    responseInterceptor: (response) => {
      const isGrant = response.ok && GRANTS.includes(new URL(response.url, window.location.href).pathname)
      if (isGrant) ui.preauthorizeApiKey('bearer', JSON.parse(response.text).access_token)
      return response
    },
  })
})

// 'string or null', as one would say it.
const nameTypes =
  (Type, { React }) =>
  (props) => {
    const shown = Type(props)
    return React.cloneElement(shown, {}, String(shown.props.children).replaceAll(' | ', ' or '))
  }

// Looks into paths and summaries too; by itself Swagger UI finds domains only.
function opsFilter(domains, phrase) {
  const wanted = phrase.trim().toLowerCase()
  const matches = (text) =>
    String(text ?? '')
      .toLowerCase()
      .includes(wanted)
  return domains
    .map((domain, name) =>
      matches(name)
        ? domain
        : domain.update('operations', (list) =>
            list.filter((op) => matches(op.get('path')) || matches(op.getIn(['operation', 'summary']))),
          ),
    )
    .filter((domain) => domain.get('operations').size > 0)
}

function followColourScheme() {
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', apply)
  apply()
}

// The field searches more than its own hint says; it appears only once the contract has been drawn.
function nameFilter() {
  const reference = document.getElementById('reference')
  const observer = new MutationObserver(() => {
    const field = reference.querySelector('.operation-filter-input')
    if (!field) return
    field.placeholder = 'Find an operation by its name or by words'
    observer.disconnect()
  })
  observer.observe(reference, { childList: true, subtree: true })
}
