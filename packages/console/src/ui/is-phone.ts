import { createStore } from '../store.ts'

const query = matchMedia('(max-width: 760px)')
const isPhone = createStore(query.matches)
query.addEventListener('change', () => isPhone.set(query.matches))

export const useIsPhone = isPhone.use
