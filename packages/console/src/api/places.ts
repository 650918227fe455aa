/** The gazetteer, which is public: a search has no credential and is no operation. */
export interface FoundPlace {
  name: string
  /** The name that was searched for, if it is another one. */
  match: string | null
  region: string
  country: string
  longitude: number
  latitude: number
}

export async function searchPlaces(text: string, signal: AbortSignal): Promise<readonly FoundPlace[]> {
  const response = await fetch(`/assets/places?q=${encodeURIComponent(text)}`, { signal })
  return response.ok ? ((await response.json()) as { places: FoundPlace[] }).places : []
}
