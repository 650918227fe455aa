import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROVIDER, ProviderRecord, toProvider } from './wire.ts'

/** One provider by its name, with its collections. */
export default operation({
  id: 'glossary.providers.get',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({ provider_name: Type.String({ minLength: 1, maxLength: 200, description: 'Provider name' }) }),
  output: ProviderRecord,
  example: { input: { provider_name: EXAMPLE_PROVIDER.name }, output: EXAMPLE_PROVIDER },
}).handle({
  async execute({ vendors }, { provider_name }) {
    const provider = vendors.providers.find(({ name }) => name === provider_name)
    if (!provider) throw notFound('provider')
    return toProvider(vendors, provider)
  },
})
