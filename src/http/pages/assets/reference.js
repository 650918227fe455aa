// Runs in the browser. Shows the contract of this service.
import { withDemoExamples } from '/assets/demo-examples.ts'
import { withPlainNulls } from '/assets/plain-nulls.ts'

const GRANTS = ['/auth/sign-up', '/auth/sign-in', '/auth/refresh']

window.addEventListener('load', async () => {
  followColourScheme()
  nameFilter()
  const contract = withPlainNulls(await (await fetch('/openapi.json')).json())
  // Requests go to the origin of the page, whatever host name was used to open it.
  contract.servers = [{ url: window.location.origin }]
  // On a local service the demo's sign-in is public, so its example works unchanged.
  const demo = await fetch('/docs/demo.json')
    .then((response) => response.json())
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
    // After a sign-in, its token authorizes further requests; nobody has to copy it.
    responseInterceptor: (response) => {
      const isGrant = response.ok && GRANTS.includes(new URL(response.url, window.location.href).pathname)
      if (isGrant) ui.preauthorizeApiKey('bearer', JSON.parse(response.text).access_token)
      return response
    },
  })
})

// Writes 'string or null' instead of 'string | null'.
const nameTypes =
  (Type, { React }) =>
  (props) => {
    const shown = Type(props)
    return React.cloneElement(shown, {}, String(shown.props.children).replaceAll(' | ', ' or '))
  }

// Searches paths and summaries too; Swagger UI itself only finds domains.
function opsFilter(domains, phrase) {
  const term = phrase.trim().toLowerCase()
  const matches = (text) =>
    String(text ?? '')
      .toLowerCase()
      .includes(term)
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

// Replaces the search field's placeholder, once Swagger UI has rendered it.
function nameFilter() {
  const reference = document.getElementById('reference')
  const observer = new MutationObserver(() => {
    const field = reference.querySelector('.operation-filter-input')
    if (!field) return
    field.placeholder = 'Search operations by name or description'
    observer.disconnect()
  })
  observer.observe(reference, { childList: true, subtree: true })
}
