#include "window.hpp"

#include "base/error.hpp"

#ifdef LUGPU_SDL2
#include <SDL.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "exit.hpp"
#include "simulation/picture.hpp"
#include "solve/methods.hpp"
#include "terminal.hpp"
#endif

namespace lugpu::cli {

void require_window() {
#ifndef LUGPU_SDL2
  throw Unsupported("this program was built without SDL2 (libsdl2-dev), which --window needs");
#endif
}

#ifndef LUGPU_SDL2

void show_window(const Options& /*options*/, const std::string& /*physics*/,
                 const SimulationOptions& /*what*/, std::optional<std::size_t> /*steps*/) {
  require_window();
}

#else

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSide = 640, kLeastSide = 64;  // of the window at first: the longer, and the shorter
constexpr double kTitleSeconds = 0.5;        // from title to title
constexpr int kPauseMilliseconds = 50;       // from look to look while the simulation pauses
constexpr double kLeastTolerance = 1e-15;
constexpr std::size_t kMostIterations = 1000000;

constexpr const char* kKeys =
    "mouse      push the water or the fluid\n"
    "m          next method of the linear systems\n"
    "+ -        more or less accurate: twice or half the iterations, or a tenth of\n"
    "           the tolerance or ten times as much\n"
    "space      pause\n"
    "r          start anew\n"
    "h          print these keys\n"
    "q, Escape  end\n";

// A place of the picture, in its width and height, y upwards.
struct Place {
  double x, y;
};

[[noreturn]] void fail() {
  throw Error(ErrorKind::failure, std::string("Cannot open a window: ") + SDL_GetError() +
                                      "; --window needs a display, --frames and --animate do not.");
}

// Not offscreen, which SDL would take where there is no display.
void choose_display() {
  const auto is_set = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value && *value;
  };
  if (is_set("SDL_VIDEODRIVER")) return;
  SDL_SetHintWithPriority(SDL_HINT_VIDEODRIVER, is_set("WAYLAND_DISPLAY") ? "x11,wayland" : "x11",
                          SDL_HINT_OVERRIDE);
}

// A window with one picture, as large as its shape lets it be.
class Window {
 public:
  Window() {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // Ctrl-C ends the program
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");  // this is no game
    choose_display();
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) fail();
    constexpr int kAnywhere = SDL_WINDOWPOS_CENTERED;
    window_.reset(SDL_CreateWindow("lugpu", kAnywhere, kAnywhere, kSide, kSide,
                                   SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE));
    if (window_) renderer_.reset(SDL_CreateRenderer(window_.get(), -1, 0));
    if (!renderer_) fail();
  }

  // Every picture is as large as the first.
  void show(const Picture& picture) {
    if (!texture_) open(picture);
    SDL_UpdateTexture(texture_.get(), nullptr, picture.rgb.data(), 3 * width_);
    SDL_RenderClear(renderer_.get());
    SDL_RenderCopy(renderer_.get(), texture_.get(), nullptr, nullptr);
    SDL_RenderPresent(renderer_.get());
  }

  void set_title(const std::string& title) { SDL_SetWindowTitle(window_.get(), title.c_str()); }

  // Of an event of the mouse.
  Place place(int x, int y) const { return {(x + 0.5) / width_, 1 - (y + 0.5) / height_}; }

 private:
  struct Close {
    void operator()(SDL_Window* window) const { SDL_DestroyWindow(window); }
    void operator()(SDL_Renderer* renderer) const { SDL_DestroyRenderer(renderer); }
    void operator()(SDL_Texture* texture) const { SDL_DestroyTexture(texture); }
  };
  struct Quit {
    ~Quit() { SDL_Quit(); }
  };

  void open(const Picture& picture) {
    width_ = static_cast<int>(picture.width);
    height_ = static_cast<int>(picture.height);
    // SDL keeps this shape in a window of any other, and counts its pixels at events of the mouse.
    SDL_RenderSetLogicalSize(renderer_.get(), width_, height_);
    texture_.reset(SDL_CreateTexture(renderer_.get(), SDL_PIXELFORMAT_RGB24,
                                     SDL_TEXTUREACCESS_STREAMING, width_, height_));
    if (!texture_) fail();
    const int longest = std::max(width_, height_);
    const auto side = [&](int size) { return std::max(kSide * size / longest, kLeastSide); };
    SDL_SetWindowSize(window_.get(), side(width_), side(height_));
    SDL_SetWindowPosition(window_.get(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED);
    SDL_ShowWindow(window_.get());
  }

  Quit quit_;
  std::unique_ptr<SDL_Window, Close> window_;
  std::unique_ptr<SDL_Renderer, Close> renderer_;
  std::unique_ptr<SDL_Texture, Close> texture_;
  int width_ = 1, height_ = 1;
};

// A simulation, and what the keys change of it.
class View {
 public:
  View(DeviceContext& context, const std::string& physics, const SimulationOptions& what)
      : context_(context), physics_(physics), what_(what) {
    start();
  }

  void start() {
    simulation_ = find_simulation(physics_).make(context_, what_);
    start_measuring();
  }

  void step() {
    simulation_->step();
    ++steps_;
  }

  Picture picture() { return paint(context_, simulation_->drawn()); }

  void push(const Place& from, const Place& to) { simulation_->push(from.x, from.y, to.x, to.y); }

  // Methods that refuse the system are skipped.
  void next_method() {
    std::vector<std::string> names;
    for (const StructuredMethod& method : structured_methods()) names.emplace_back(method.name);
    for (const Method& method : methods()) {  // of the cells of bubbles
      if (!structured_method(method.name)) names.emplace_back(method.name);
    }
    const auto now = std::find(names.begin(), names.end(), simulation_->method());
    if (now != names.end()) std::rotate(names.begin(), now + 1, names.end());
    for (const std::string& name : names) {
      if (change(name, rule_of(what_))) return;
    }
  }

  void refine(bool more) {
    StoppingRule rule = rule_of(what_);
    if (rule.tolerance > 0) {
      const double tolerance = more ? rule.tolerance / 10 : rule.tolerance * 10;
      rule.tolerance = std::clamp(tolerance, kLeastTolerance, 1.0);
    } else {
      const std::size_t iterations = more ? rule.iterations * 2 : rule.iterations / 2;
      rule.iterations = std::clamp<std::size_t>(iterations, 1, kMostIterations);
    }
    change(simulation_->method(), rule);
  }

  // Speed and what is left are of the steps from now on.
  void start_measuring() {
    simulation_->left();
    left_.reset();
    steps_per_s_ = 0;
    steps_ = 0;
    since_ = Clock::now();
  }

  // Whether there is something new to say in title().
  bool measure() {
    const double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
    if (steps_ == 0 || seconds < kTitleSeconds) return false;
    const std::vector<double> left = simulation_->left();  // waits for the device
    if (!left.empty()) left_ = left.back();
    steps_per_s_ = static_cast<double>(steps_) / seconds;
    steps_ = 0;
    since_ = Clock::now();
    return true;
  }

  std::string title() const {
    const auto& [nx, ny, nz] = what_.size;
    std::string title = physics_ + " " + what_.scene + ", " + format("%zu x %zu", nx, ny);
    if (nz > 1) title += format(" x %zu", nz);
    title += ", " + simulation_->method() + ", ";
    const StoppingRule rule = rule_of(what_);
    title += rule.tolerance > 0 ? format("tolerance %.3g", rule.tolerance)
                                : format("iterations %zu", rule.iterations);
    if (steps_per_s_ > 0) title += format(", %.3g frames/s", steps_per_s_);
    if (left_) title += format(", %s %.2g", simulation_->left_name(), *left_);
    if (!simulation_->trouble().empty()) {
      title += " | " + simulation_->trouble();
    } else if (left_ && !std::isfinite(*left_)) {
      title += " | The numbers are not finite any more";
    }
    return title;
  }

 private:
  bool change(const std::string& method, const StoppingRule& rule) {
    try {
      simulation_->change(method, rule);
    } catch (const Error& error) {
      if (exit_of(error.kind()) != Exit::usage) throw;
      return false;
    }
    what_.method = method;
    what_.tolerance = rule.tolerance;
    what_.iterations = rule.iterations;
    start_measuring();
    return true;
  }

  DeviceContext& context_;
  std::string physics_;
  SimulationOptions what_;
  std::unique_ptr<Physics> simulation_;
  std::optional<double> left_;  // of the last step that was measured
  double steps_per_s_ = 0;      // 0: not known yet
  std::size_t steps_ = 0;       // since since_
  Clock::time_point since_;
};

// What the user wants.
class User {
 public:
  User(Window& window, View& view) : window_(window), view_(view) {}

  bool has_closed() const { return closed_; }
  bool pauses() const { return paused_; }

  // Does what was asked for since the last call; returns whether the title may have changed.
  bool attend() {
    bool changed = false;
    SDL_Event event;
    if (paused_ && SDL_WaitEventTimeout(nullptr, kPauseMilliseconds) == 0) return false;
    while (!closed_ && SDL_PollEvent(&event)) {
      if (event.type == SDL_QUIT) closed_ = true;
      if (event.type == SDL_KEYDOWN && event.key.repeat == 0) {
        press(event.key.keysym.sym);
        changed = true;
      }
      move(event);
    }
    push();
    return changed;
  }

 private:
  void press(SDL_Keycode key) {
    switch (key) {
      case SDLK_m:
        return view_.next_method();
      case SDLK_PLUS:
      case SDLK_EQUALS:  // the same key of many keyboards
      case SDLK_KP_PLUS:
        return view_.refine(true);
      case SDLK_MINUS:
      case SDLK_KP_MINUS:
        return view_.refine(false);
      case SDLK_SPACE:
        paused_ = !paused_;
        return view_.start_measuring();
      case SDLK_r:
        return view_.start();
      case SDLK_h:
        std::cout << kKeys << std::flush;
        return;
      case SDLK_q:
      case SDLK_ESCAPE:
        closed_ = true;
        return;
      default:
        return;
    }
  }

  void move(const SDL_Event& event) {
    if (event.type == SDL_MOUSEBUTTONDOWN && event.button.button == SDL_BUTTON_LEFT) {
      from_ = to_ = window_.place(event.button.x, event.button.y);
      drags_ = true;
    }
    if (event.type == SDL_MOUSEMOTION && drags_)
      to_ = window_.place(event.motion.x, event.motion.y);
    if (event.type == SDL_MOUSEBUTTONUP && event.button.button == SDL_BUTTON_LEFT) drags_ = false;
  }

  // Once between two steps, however many events there were: the speed of a push is its way in a
  // step.
  void push() {
    if (to_.x == from_.x && to_.y == from_.y) return;
    view_.push(from_, to_);
    from_ = to_;
  }

  Window& window_;
  View& view_;
  bool closed_ = false, paused_ = false, drags_ = false;
  Place from_ = {0, 0}, to_ = {0, 0};
};

}  // namespace

void show_window(const Options& options, const std::string& physics, const SimulationOptions& what,
                 std::optional<std::size_t> steps) {
  Window window;  // before the device: that there is no display is said at once
  DeviceContext context = std::move(open_devices(options).front());
  View view(context, physics, what);
  User user(window, view);
  window.set_title("lugpu " + view.title());
  window.show(view.picture());
  for (std::size_t step = 0; !steps || step < *steps;) {
    bool news = user.attend();
    if (user.has_closed()) return;
    if (!user.pauses()) {
      view.step();
      ++step;
      news = view.measure() || news;
    }
    if (news) window.set_title("lugpu " + view.title() + (user.pauses() ? ", paused" : ""));
    window.show(view.picture());
  }
}

#endif

}  // namespace lugpu::cli
