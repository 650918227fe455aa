// Runs in the browser. Opens the reference on this service's own contract.
window.addEventListener('load', () => {
  window.SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    displayOperationId: true,
    displayRequestDuration: true,
    persistAuthorization: false,
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
  })
})
