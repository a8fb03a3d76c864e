% \, inv and det of Octave, as any program calls them: octave-cli octave_lu.m N RUNS
%
% Prints the version, the seconds of every run but an untimed first, and what scripts/time_languages.py checks.

1;  % a script, not a function's file

function put (name, values)
  printf ("%s%s\n", name, sprintf (" %.15g", values));
end

% The result of an operation, whose times it prints.
function result = measure (name, operation, runs)
  result = operation ();
  seconds = zeros (1, runs);
  for i = 1:runs
    start = tic ();
    operation ();
    seconds(i) = toc (start);
  end
  put (name, seconds);
end

arguments = argv ();
n = str2double (arguments{end - 1});
runs = str2double (arguments{end});
rand ("twister", 1);
% det has no logarithm: scaled so that the expected square of it is 1, it neither overflows nor underflows
a = sqrt (3) * exp (-gammaln (n + 1) / (2 * n)) * (2 * rand (n) - 1);
b = 2 * rand (n, 1) - 1;

printf ("version %s\n", version ());
x = measure ("solve", @() a \ b, runs);
inverse = measure ("inv", @() inv (a), runs);
d = measure ("det", @() det (a), runs);
unit = n * 2^-53;
put ("solve_ratio", norm (a * x - b, Inf) / (norm (a, Inf) * norm (x, Inf) * unit));
put ("inv_ratio", norm (a * inverse - eye (n), Inf) / (norm (a, Inf) * norm (inverse, Inf) * unit));
put ("sign", sign (d));
put ("log_abs_det", log (abs (d)));
