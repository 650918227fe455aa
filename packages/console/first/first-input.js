// Inline, behind the first markup: what it cannot know by itself, and what is pressed before the console runs is kept for it.
;(function () {
  var first = document.getElementById('first')
  var seen = document.documentElement.dataset.first
  first.querySelector(seen === 'shell' ? '.sign-in-page' : '.shell').remove()
  if (seen === 'shell') return
  if (seen === 'auth') return first.querySelector('#first-sign-in').remove()
  first.querySelector('#first-host').textContent = location.host
  first.querySelector('#first-demo').hidden = !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname)
  first.addEventListener('submit', function (event) {
    event.preventDefault()
    first.dataset.pressed = 'sign-in'
  })
  first.addEventListener('focusin', function (event) {
    first.dataset.focused = event.target.autocomplete || ''
  })
  // As soon as a button goes down: where the console takes over before it comes up, there is no click.
  first.addEventListener('pointerdown', function (event) {
    if (event.target.value) first.dataset.pressed = event.target.value
  })
})()
