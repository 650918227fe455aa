/** The welcome page's form: fills in the location of the browser, if its user agrees. */
const button = document.getElementById('use-location')
const place = document.getElementById('place')
const help = document.getElementById('place-help')

if ('geolocation' in navigator) {
  button.hidden = false
  button.addEventListener('click', () => {
    button.disabled = true
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        button.disabled = false
        place.value = `${coords.latitude.toFixed(4)}, ${coords.longitude.toFixed(4)}`
        place.form.requestSubmit()
      },
      () => {
        button.disabled = false
        help.textContent = 'The browser did not provide your location. Enter a city, or latitude and longitude.'
      },
      { timeout: 20_000 },
    )
  })
}
